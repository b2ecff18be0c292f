import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { RunningProgram } from '@belay/containers';
import type { ContainedProgram } from '../../programs/program.js';

const toolsServer = join(__dirname, '../../../../../libs/testkit/mcp-server.mjs');

/** The MCP server for tests, over standard input and output, in place of a program in an image. */
export function toolsProgram({ env }: Pick<ContainedProgram, 'env'>): RunningProgram {
  const child = spawn(process.execPath, [toolsServer], {
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(() => ({}));
  const output = (async function* () {
    for await (const data of child.stdout) yield { isError: false, data: data as Buffer };
  })();
  const stop = () => {
    child.stdin.end();
    child.kill();
    return ended;
  };
  return { input: child.stdin, output, ended, stop };
}
