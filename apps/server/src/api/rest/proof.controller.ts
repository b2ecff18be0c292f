import { Req, Res } from '@nestjs/common';
import { proofRoutes, type NotedHead } from '@belay/protocol';
import type { Request, Response } from 'express';
import { NotedHeads } from '../../proof/noted-heads.js';
import { linkNext } from './paging.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof proofRoutes>;

@RestController(proofRoutes)
export class ProofController {
  constructor(private readonly noted: NotedHeads) {}

  async heads(
    { query: { after, limit } }: Inputs['heads'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<NotedHead[]> {
    const heads = await this.noted.after(after, limit);
    linkNext({ request, response }, heads.at(-1)?.id ?? after);
    return heads;
  }
}
