import { Injectable } from '@nestjs/common';
import {
  AppError,
  operations,
  type OperationOutput,
  type serverCalls,
  type ServerService,
} from '@belay/protocol';
import type { Servers } from '@belay/rpc';
import { ActionCalls } from '../../actions/action-calls.js';
import { ApprovedCalls, type ApprovedCall } from '../../approvals/approved-calls.js';
import { EgressService } from '../../egress/egress.service.js';
import { McpCalls } from '../../mcp/mcp-calls.js';
import { WebSearch } from '../../models/web-search.js';
import { MachineHosts } from '../machines/machine-hosts.js';
import type { ConnectedSandbox, SessionOf } from './connected-sandbox.js';

export type ApprovedHandlers = Pick<
  Servers<typeof serverCalls>,
  'approvals.request' | 'action.call' | 'mcp.call' | 'browser.sidecar' | 'web.search'
>;

/** Services of the server for logged calls, provided once the call is approved. The agent sends only the call’s id. */
@Injectable()
export class ApprovedServices {
  constructor(
    private readonly calls: ApprovedCalls,
    private readonly actions: ActionCalls,
    private readonly mcp: McpCalls,
    private readonly search: WebSearch,
    private readonly egress: EgressService,
    private readonly hosts: MachineHosts,
  ) {}

  /** The services that this server is configured with. */
  get available(): ServerService[] {
    return this.search.isSetUp ? ['search'] : [];
  }

  handlers(session: SessionOf, sandbox: ConnectedSandbox): ApprovedHandlers {
    return {
      'approvals.request': async ({ id }, { signal }) =>
        this.calls.verdict(await session(), id, signal),
      'action.call': async ({ id }, { signal }) => this.actions.run(await session(), id, signal),
      'mcp.call': async ({ id }, { signal }) => this.mcp.run(await session(), id, signal),
      'browser.sidecar': async ({ id }, { signal }) =>
        this.calls.run(await session(), id, {
          signal,
          work: async (call) => ({ endpoint: await this.#browserFor(call, sandbox) }),
        }),
      'web.search': async ({ id }, { signal }) => this.#search(await session(), id, signal),
    };
  }

  /** Calls that only read a page need no approval and start no browser: without one there is no page to read. */
  async #browserFor(call: ApprovedCall, sandbox: ConnectedSandbox): Promise<string> {
    const { operation, source } = call;
    if (operation.display !== 'page') {
      throw new AppError('forbidden', `${operation.name} needs no browser.`);
    }
    const needsPage = operation.risk === 'read' && source === 'agent';
    const host = this.hosts.of(sandbox.machine);
    if (needsPage && !(await host?.hasBrowser(sandbox.id))) {
      throw new AppError('unavailable', 'No page is open. Open one first.');
    }
    if (!host) throw new AppError('unavailable', 'The machine has no Chromium: install it there.');
    return host.browser(sandbox.id);
  }

  async #search(
    session: string,
    id: string,
    signal: AbortSignal,
  ): Promise<OperationOutput<'web.search'>> {
    await this.egress.requireNetwork(session);
    const work = async ({ operation, input }: ApprovedCall, ending: AbortSignal) => {
      if (operation.needs !== 'search') {
        throw new AppError('forbidden', `${operation.name} is not a search.`);
      }
      return this.search.search(operations['web.search'].input.parse(input), { signal: ending });
    };
    return this.calls.runOnce(session, id, { signal, work, isHarmless: true });
  }
}
