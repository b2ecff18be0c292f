import { gptDocument, gptDocumentRoutes } from '@belay/protocol';
import { Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Config } from '../../config.js';
import { PublicUrl } from '../public-url.js';
import { RestController } from '../rest/rest-controller.js';
import { legal, logo, pluginManifest } from './plugin-manifest.js';

@RestController(gptDocumentRoutes)
export class GptDocumentsController {
  constructor(
    private readonly config: Config,
    private readonly publicUrl: PublicUrl,
  ) {}

  plugin(_: unknown, @Req() request: Request): Record<string, unknown> {
    return pluginManifest(this.config, this.publicUrl.origin(request));
  }

  schema(_: unknown, @Req() request: Request): Record<string, unknown> {
    return gptDocument(this.publicUrl.origin(request));
  }

  logo(_: unknown, @Res() response: Response): void {
    response.type(gptDocumentRoutes.logo.response.bytes).send(logo);
  }

  legal(_: unknown, @Res() response: Response): void {
    response.type(gptDocumentRoutes.legal.response.bytes).send(legal);
  }
}
