import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppError } from '@belay/protocol';
import { AppModule } from './app.module.js';
import { Config } from './config.js';
import { lockData } from './data-lock.js';
import { Identity } from './doors/identity.js';
import { openDoors } from './doors/open-doors.js';
import { ServerLogger } from './logging.js';

/** How long open requests may take to end after a signal. */
const closeMs = 5_000;

main().catch((error: unknown) => {
  process.stderr.write(`${sentenceOf(error)}\n`);
  process.exit(1);
});

async function main(): Promise<void> {
  const config = new Config();
  const unlock = lockData(config.data);
  const logger = new ServerLogger(config);
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    logger,
    bodyParser: false,
    abortOnError: false,
    forceCloseConnections: true,
  });
  openDoors(app);
  await listen(app, config);
  endOnSignal(app, unlock);
  const identity = app.get(Identity);
  const url = addressOf(app, config);
  identity.announce(url);
  process.stdout.write(`${JSON.stringify({ ready: true, url, token: identity.token })}\n`);
}

async function listen(app: NestExpressApplication, { host, port }: Config): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    await app.close().catch(() => undefined);
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new AppError(
        'conflict',
        `Port ${port} on ${host} is taken by another program: stop it, or set BELAY_PORT.`,
      );
    }
    if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
      throw new AppError('unavailable', `This machine cannot listen on ${host}:${port} (${code}).`);
    }
    throw error;
  }
}

/** Sandboxes go on without the server: the next start finds them again. */
function endOnSignal(app: NestExpressApplication, unlock: () => void): void {
  let ending = false;
  const end = (signal: NodeJS.Signals): void => {
    if (ending) process.exit(signal === 'SIGINT' ? 130 : 143);
    ending = true;
    setTimeout(() => process.exit(0), closeMs).unref();
    void app.close().finally(() => {
      unlock();
      process.exit(0);
    });
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
}

function addressOf(app: NestExpressApplication, { host }: Config): string {
  const address = app.getHttpServer().address() as { port: number };
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${address.port}`;
}

function sentenceOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
