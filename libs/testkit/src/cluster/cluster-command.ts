import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { prepared } from '../environment.js';

export interface CommandOptions {
  /** The working directory. */
  cwd?: string;
  input?: string;
}

/** Runs a program, such as helm, with the rights over the test cluster; returns its standard output. */
export async function clusterCommand(
  program: string,
  args: readonly string[],
  { cwd, input = '' }: CommandOptions = {},
): Promise<string> {
  const env = { ...process.env, KUBECONFIG: prepared('BELAY_TEST_CLUSTER') };
  const running = promisify(execFile)(program, args, { cwd, env, maxBuffer: 64 * 2 ** 20 });
  running.child.stdin?.end(input);
  return (await running).stdout;
}
