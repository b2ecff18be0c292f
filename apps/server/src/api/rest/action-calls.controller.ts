import { Req, Res } from '@nestjs/common';
import { actionCallRoutes, type ActionOutput, type McpOutput } from '@belay/protocol';
import type { Request, Response } from 'express';
import { DirectCalls } from '../../actions/direct-calls.js';
import { BlobStore } from '../../logs/blob-store.js';
import { callerOf } from '../auth/access.guard.js';
import { abortedOnClose } from './aborted-on-close.js';
import { RestController, type RouteInputs } from './rest-controller.js';
import { sendBlob } from './send-blob.js';

type Inputs = RouteInputs<typeof actionCallRoutes>;

@RestController(actionCallRoutes)
export class ActionCallsController {
  constructor(
    private readonly calls: DirectCalls,
    private readonly blobs: BlobStore,
  ) {}

  /** Closing the request cancels the call. */
  call(
    { params, body }: Inputs['call'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ActionOutput> {
    const call = { input: body, caller: callerOf(request), signal: abortedOnClose(response) };
    return this.calls.run(params.name, call);
  }

  /** Closing the request cancels the call. */
  tool(
    { params: { name: server, tool: name }, body }: Inputs['tool'],
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<McpOutput> {
    const call = { input: body, caller: callerOf(request), signal: abortedOnClose(response) };
    return this.calls.runTool({ server, name }, call);
  }

  async blob(
    { params: { blob } }: Inputs['blob'],
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    this.calls.requireOwn(callerOf(request), blob);
    sendBlob(blob, await this.blobs.get(blob), { request, response });
  }
}
