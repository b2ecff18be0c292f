import { spawn } from 'node:child_process';

const limitMs = 15 * 60_000;

/** Throws the end of the output of a command that fails. */
export async function runOrFail(
  [program = '', ...args]: string[],
  { cwd, environment }: { cwd: string; environment?: Record<string, string> },
): Promise<string> {
  const env = { ...process.env, ...environment };
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: limitMs,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const code = await new Promise<number | null>((done, failed) =>
    child.once('error', failed).once('close', done),
  );
  if (code === 0) return output;
  const end = output.trim().split('\n').slice(-40).join('\n');
  throw new Error(`${[program, ...args].join(' ')} ended with ${code}:\n${end}`);
}
