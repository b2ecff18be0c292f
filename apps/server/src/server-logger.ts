import type { LoggerService } from '@nestjs/common';
import pino, { type DestinationStream, type Logger } from 'pino';
import type { Config } from './config.js';

/** Fields of logged objects that may contain a secret. */
const secrets = ['token', 'viewerToken', 'key', 'apiKey', 'authorization', 'cookie', 'password'];

/** Logs of the server: lines of JSON on stderr, because stdout is for the readiness line. */
export class ServerLogger implements LoggerService {
  readonly #pino: Logger;

  constructor(
    config: Pick<Config, 'logLevel'>,
    to: DestinationStream = pino.destination({ dest: 2, sync: true }),
  ) {
    this.#pino = pino(
      {
        level: config.logLevel,
        base: { pid: process.pid },
        serializers: { err: plainError },
        redact: {
          paths: secrets.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]),
          censor: '(hidden)',
        },
      },
      to,
    );
  }

  log(message: unknown, ...more: unknown[]): void {
    // Nest logs each module and route at the start, which is of use only to developers.
    this.#write(isStartup(more) ? 'debug' : 'info', message, more);
  }
  error(message: unknown, ...more: unknown[]): void {
    this.#write('error', message, more);
  }
  warn(message: unknown, ...more: unknown[]): void {
    this.#write('warn', message, more);
  }
  debug(message: unknown, ...more: unknown[]): void {
    this.#write('debug', message, more);
  }
  verbose(message: unknown, ...more: unknown[]): void {
    this.#write('trace', message, more);
  }
  fatal(message: unknown, ...more: unknown[]): void {
    this.#write('fatal', message, more);
  }

  #write(level: pino.Level, message: unknown, more: unknown[]): void {
    const context = more.findLast((each) => typeof each === 'string');
    if (message instanceof Error) this.#pino[level]({ context, err: message });
    else if (typeof message === 'object' && message !== null) {
      const { error, ...fields } = message as Record<string, unknown>;
      this.#pino[level]({ context, ...fields, ...(error !== undefined && { err: error }) });
    } else this.#pino[level]({ context }, '%s', message);
  }
}

/** Errors of libraries may contain the request with its headers as a property. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { type, message, stack } = pino.stdSerializers.err(error);
  return { type, message, stack, code: (error as NodeJS.ErrnoException).code };
}

const startup = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'WebSocketsController',
]);

const isStartup = (more: unknown[]): boolean => startup.has(String(more.at(-1)));
