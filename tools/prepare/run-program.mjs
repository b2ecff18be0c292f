import { spawn } from 'node:child_process';
import { Instruction } from './steps.mjs';

const charactersPerLine = 400;

/**
 * Runs a command to its end and returns the end of its output. On failure, or after `timeout`
 * milliseconds, throws an instruction with the last `lines` of it.
 * @param {string} command
 * @param {string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, show?: boolean, lines?: number,
 *   timeout?: number }} [options]
 * @returns {Promise<string>}
 */
export function runProgram(command, args, { cwd, env, show = false, lines = 12, timeout } = {}) {
  const most = lines * charactersPerLine;
  return new Promise((resolve, reject) => {
    const output = show ? 'inherit' : 'pipe';
    const child = spawn(command, args, { cwd, env, timeout, stdio: ['ignore', output, output] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-most)));
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (code === 0) return resolve(said);
      const how = signal ? `was ended by ${signal}` : `failed with exit code ${code}`;
      const what = [command, ...args].join(' ');
      reject(new Instruction(`${what} ${how}. It said:\n${lastLines(said, lines)}`));
    });
  });
}

export function lastLines(text, count = 12) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}
