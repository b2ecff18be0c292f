import { Injectable } from '@nestjs/common';
import {
  actionAsInstalled,
  AppError,
  NewestSet,
  toolAsInstalled,
  type ActionOutput,
  type InstalledOperation,
  type McpOutput,
} from '@belay/protocol';
import { AuditLog } from '../access/audit-log.js';
import { assertMay, assertReaches, may, reaches, type Caller } from '../access/caller.js';
import { BlobStore } from '../logs/blob-store.js';
import { toMcpOutput } from '../mcp/mcp-output.js';
import { McpServers } from '../mcp/mcp-servers.js';
import { ActionRunner } from './action-runner.js';
import { InstalledActions } from './installed-actions.js';

/** The number of blobs from such calls that their callers can still read. */
const mostRemembered = 2_000;

interface DirectCall {
  input: Record<string, unknown>;
  caller: Caller;
  signal: AbortSignal;
}

/**
 * Calls of installed actions, and of tools of installed MCP servers, without a session. The caller decides to make
 * them, so no approval is asked.
 */
@Injectable()
export class DirectCalls {
  /** Who may read a call’s blob, as `caller blob`. */
  readonly #blobs = new NewestSet<string>(mostRemembered);

  constructor(
    private readonly installed: InstalledActions,
    private readonly runner: ActionRunner,
    private readonly audit: AuditLog,
    private readonly servers: McpServers,
    private readonly blobs: BlobStore,
  ) {}

  /** The operations that the caller can call without a session now. */
  offered(caller: Caller): InstalledOperation[] {
    if (!may(caller, 'operate') || !reaches(caller, 'starting')) return [];
    return [
      ...this.installed.forSession(undefined).map(actionAsInstalled),
      ...this.servers.installedTools().map(toolAsInstalled),
    ];
  }

  /** Throws `not_found`, and what `ActionRunner.run` throws. */
  async run(name: string, { input, caller, signal }: DirectCall): Promise<ActionOutput> {
    const called = `action.${name}`;
    this.#assertMayCall(caller, called);
    const [action] = this.installed.forSession([name]);
    if (!action) throw new AppError('not_found', `The action ${name} cannot be called.`);
    const call = { action, input, session: null, signal };
    const subject = JSON.stringify(input).slice(0, 2_000);
    const output = await this.audit.run(caller, { action: called, subject }, () =>
      this.runner.run(call),
    );
    const blobs = output.files.map(({ blob }) => blob);
    for (const blob of output.full ? [...blobs, output.full] : blobs) this.#remember(caller, blob);
    return output;
  }

  /** Throws `not_found` for a tool that does not exist now, and what `McpServers.call` throws. */
  async runTool(
    { server, name }: { server: string; name: string },
    { input, caller, signal }: DirectCall,
  ): Promise<McpOutput> {
    const called = `mcp.${server}.${name}`;
    this.#assertMayCall(caller, called);
    const tool = this.servers
      .installedTools()
      .find((one) => one.server === server && one.name === name);
    if (!tool)
      throw new AppError(
        'not_found',
        `The installed MCP server ${server} no longer has the tool ${name}. Check it with: belay actions show ${server}`,
      );
    const subject = JSON.stringify(input).slice(0, 2_000);
    return this.audit.run(caller, { action: called, subject }, async () => {
      const result = await this.servers.call(tool, input, signal);
      return toMcpOutput(result, async (bytes, type) => {
        const blob = await this.blobs.put(bytes, type);
        this.#remember(caller, blob);
        return blob;
      });
    });
  }

  #assertMayCall(caller: Caller, action: string): void {
    this.audit.refusals(caller, { action }, () => {
      assertMay(caller, 'operate');
      assertReaches(caller, 'starting');
    });
  }

  /** Throws `not_found` for a blob that no call of this caller produced. */
  requireOwn(caller: Caller, blob: string): void {
    if (!this.#blobs.has(`${caller.id} ${blob}`))
      throw new AppError('not_found', 'There is no such file of a call that you made.');
  }

  #remember({ id }: Caller, blob: string): void {
    this.#blobs.add(`${id} ${blob}`);
  }
}
