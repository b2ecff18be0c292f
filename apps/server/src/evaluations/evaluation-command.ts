import { spawn, type ChildProcess } from 'node:child_process';
import { Injectable } from '@nestjs/common';
import { AppError } from '@belay/protocol';
import { Config, hostEnvironment } from '../config.js';

const maxOutput = 4 * 2 ** 20;
/** The end of what a process wrote to standard error, which says why it failed. */
const maxErrors = 8_192;

export interface ProcessEnd {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
  errors: string;
}

/** The command line writes it before its errors. */
export const errorPrefix = 'belay: ';

/** A running `belay eval`. */
export class EvaluationProcess {
  /** Never rejects. */
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    let output = '';
    let errors = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(0, maxOutput);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-maxErrors);
    });
    this.ended = new Promise((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, output, errors }));
      child.once('error', ({ message }) => {
        errors = `${errorPrefix}It cannot be started: ${message}.`;
        resolve({ code: null, signal: null, output, errors });
      });
    });
  }

  /** Like Ctrl-C in a terminal: the first ends a run with its results, the second at once. */
  interrupt(): void {
    this.#child.kill('SIGINT');
  }
}

/** The evaluation is a program of its own, which the command line contains. */
@Injectable()
export class EvaluationCommand {
  constructor(private readonly config: Config) {}

  /**
   * Starts `belay eval` with these arguments. The token is passed in its environment, which only this user can read.
   * The process ends as by Ctrl-C when this server has ended, however it did: its channel is closed then.
   */
  start(args: readonly string[], token?: string): EvaluationProcess {
    const { cli, data } = this.config;
    if (cli === undefined)
      throw new AppError(
        'unavailable',
        'This server was started without the command line, which runs benchmarks. Start it with `belay up` or `npm start`.',
      );
    const child = spawn(process.execPath, [cli, 'eval', ...args], {
      // Terminal signals reach only the server, which passes them on.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: {
        ...hostEnvironment(this.config),
        BELAY_DATA: data,
        ...(token !== undefined && { BELAY_TOKEN: token }),
      },
    });
    return new EvaluationProcess(child);
  }
}
