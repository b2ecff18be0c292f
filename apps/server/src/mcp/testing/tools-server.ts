import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { SavedTransport } from '../mcp-config.js';

const file = join(__dirname, '../../../../../libs/testkit/mcp-server.mjs');

/** How to reach the MCP server for tests over standard input and output. */
export const overStdio = (
  env: Record<string, string> = {},
): SavedTransport & { type: 'stdio' } => ({
  type: 'stdio',
  command: process.execPath,
  args: [file],
  env,
  host: true,
  image: null,
  folder: null,
  hosts: [],
});

/**
 * The same server over streamable HTTP, as a process that can be killed and restarted on its port.
 */
export class ToolsServer {
  port = 0;
  #child: ChildProcess | undefined;

  async start(env: Record<string, string> = {}): Promise<this> {
    this.#child = spawn(process.execPath, [file, 'http', String(this.port)], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (!this.#child.stdout) throw new Error('It has no output.');
    const [line] = (await once(createInterface(this.#child.stdout), 'line')) as [string];
    this.port = Number(line);
    return this;
  }

  transport(
    headers: Record<string, string> = {},
    path: '/mcp' | '/sse' = '/mcp',
  ): SavedTransport & { type: 'http' } {
    return { type: 'http', url: `http://127.0.0.1:${this.port}${path}`, headers };
  }

  async kill(): Promise<void> {
    if (!this.#child || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
