import { Req, Res } from '@nestjs/common';
import { mcpServerRoutes } from '@belay/protocol';
import type { Request, Response } from 'express';
import { may, type Caller } from '../../access/caller.js';
import { callerOf as httpCallerOf } from '../auth/access.guard.js';
import { readJsonBody } from '../json-bodies.js';
import { RestController } from '../rest/rest-controller.js';
import { McpConnections } from './mcp-connections.js';

/** Enough for a file of a few megabytes as base64. */
const maxBytes = 8 * 2 ** 20;
const maxBytesOfViewers = 64 * 1024;

/** The MCP server over streamable HTTP. */
@RestController(mcpServerRoutes)
export class McpServerController {
  constructor(private readonly connections: McpConnections) {}

  async send(_: unknown, @Req() request: Request, @Res() response: Response): Promise<void> {
    const caller = callerOf(request);
    const limit = may(caller, 'operate') ? maxBytes : maxBytesOfViewers;
    const body = await readJsonBody(request, limit);
    await this.connections.handle({ request, response }, caller, body);
  }

  async listen(_: unknown, @Req() request: Request, @Res() response: Response): Promise<void> {
    await this.connections.handle({ request, response }, callerOf(request));
  }

  async leave(_: unknown, @Req() request: Request, @Res() response: Response): Promise<void> {
    await this.connections.handle({ request, response }, callerOf(request));
  }
}

const callerOf = (request: Request): Caller => ({
  ...httpCallerOf(request),
  via: { api: 'mcp', address: request.socket.remoteAddress },
});
