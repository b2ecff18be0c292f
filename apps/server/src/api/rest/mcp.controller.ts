import { api, AppError, problemOf, type McpServer } from '@belay/protocol';
import { Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { callerOf } from '../auth/access.guard.js';
import { shownTo } from '../../mcp/mcp-config.js';
import { McpServers } from '../../mcp/mcp-servers.js';
import { baseUrlOf } from '../base-url.js';
import { messagePage } from '../oauth/consent-page.js';
import { RestController, type RouteInputs } from './rest-controller.js';

type Inputs = RouteInputs<typeof api.mcp>;

/** The MCP servers that agents may use. Secrets are write-only. */
@RestController(api.mcp)
export class McpController {
  constructor(private readonly servers: McpServers) {}

  list(_: unknown, @Req() request: Request): McpServer[] {
    const caller = callerOf(request);
    return this.servers.list().map((server) => shownTo(caller, server));
  }

  create({ body }: Inputs['create']): Promise<McpServer> {
    return this.servers.create(body);
  }

  change({ params, body }: Inputs['change']): Promise<McpServer> {
    return this.servers.change(params.name, body);
  }

  test({ params }: Inputs['test']): Promise<McpServer> {
    return this.servers.test(params.name);
  }

  async login({ params }: Inputs['login'], @Req() request: Request): Promise<{ url: string }> {
    const redirect = `${baseUrlOf(request)}${api.mcp.loggedIn.path}`;
    return { url: await this.servers.beginLogin(params.name, redirect) };
  }

  /**
   * Open to all, because the browser comes from another site. The state is the server’s own secret, and valid once.
   */
  async loggedIn({ query }: Inputs['loggedIn'], @Res() response: Response): Promise<void> {
    const { code, state, error } = query;
    const page = (status: number, text: string): void =>
      void response.status(status).type('html').send(messagePage(text));
    if (code === undefined) return page(400, `The login was refused (${error ?? 'no code'}).`);
    try {
      const { name } = await this.servers.finishLogin(state, code);
      page(200, `${name} is connected. You can close this page.`);
    } catch (failed) {
      if (!(failed instanceof AppError)) throw failed;
      page(problemOf(failed).status, failed.message);
    }
  }

  remove({ params }: Inputs['remove']): Promise<void> {
    return this.servers.remove(params.name);
  }
}
