import 'reflect-metadata';
import { createServer } from 'node:net';
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
  await checkPort(config);
  const logger = new ServerLogger(config);
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    logger,
    bodyParser: false,
    abortOnError: false,
    forceCloseConnections: true,
  });
  openDoors(app);
  await app.listen(config.port, config.host);
  endOnSignal(app, unlock);
  const identity = app.get(Identity);
  const url = addressOf(app, config);
  identity.announce(url);
  process.stdout.write(`${JSON.stringify({ ready: true, url, token: identity.token })}\n`);
}

/** Tried before anything else is begun: a second program on the port is the usual mistake. */
async function checkPort({ host, port }: Config): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject).listen(port, host, resolve);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const remedy = 'stop it, or set BELAY_PORT.';
    throw code === 'EADDRINUSE'
      ? new AppError('conflict', `Port ${port} on ${host} is taken by another program: ${remedy}`)
      : new AppError('unavailable', `This machine cannot listen on ${host}:${port} (${code}).`);
  } finally {
    probe.close();
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
