import 'reflect-metadata';
import { createServer, type AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { AppError } from '@belay/protocol';
import { ownerCaller } from './access/caller.js';
import { AppModule } from './app.module.js';
import { ApprovalService } from './approvals/approval.service.js';
import { askAtTerminal } from './approvals/ask-at-terminal.js';
import { closeServer } from './close-server.js';
import { Config } from './config.js';
import { lockData } from './data-lock.js';
import { endSignals } from './end-signals.js';
import { endWithCode } from './end-with-code.js';
import { Identity } from './api/auth/identity.js';
import { Logins } from './api/auth/logins.js';
import { OwnTokens } from './api/auth/own-tokens.js';
import { PublicUrl } from './api/public-url.js';
import { openTunnel } from './api/tunnel.js';
import { setUpHttp } from './api/set-up-http.js';
import { ServerLogger } from './server-logger.js';
import { EventLog } from './logs/event-log.js';
import { Lead } from './peers/lead.js';
import { ServerTurn } from './peers/server-turn.js';

/** The printed link is often opened much later than it was printed. */
const firstCodeMs = 12 * 3600_000;

main().catch((error: unknown) => {
  // What was closed under it has failed.
  if (endSignals.received) return;
  process.stderr.write(`${sentenceOf(error)}\n`, () => endWithCode(1));
});

async function main(): Promise<void> {
  const config = new Config();
  const unlock = lockData(config.data, { isShared: config.peerAddress !== undefined });
  await checkPort(config);
  const logger = new ServerLogger(config);
  // The last resort: an unawaited failure in one session’s work must not end all other sessions.
  process.on('unhandledRejection', (reason) => logger.error(reason));
  const turn = config.databaseUrl === undefined ? undefined : await ServerTurn.join(config, logger);
  const app = await NestFactory.create<NestExpressApplication>(AppModule, {
    logger,
    bodyParser: false,
    abortOnError: false,
    forceCloseConnections: true,
  });
  setUpHttp(app);
  if (turn) app.get(Lead).beforeWork(() => turn.beforeWork());
  await app.init();
  turn?.work(app.getHttpServer());
  // Sandboxes keep running without the server; its next start adopts them.
  endSignals.closeBy(async () => {
    await closeServer(app, turn);
    unlock();
  });
  if (turn?.relayPort) await app.get(OwnTokens).announceStandBy(addressOf(turn.relayPort, config));
  await turn?.begun();
  await app.get(Lead).begin();
  const ownPort = turn?.freePort() ?? config.port;
  await app.listen(ownPort, config.host).catch((error: unknown) => {
    throw listenError(error, config);
  });
  turn?.serve(app.getHttpServer());
  const { stdin: input, stderr: output } = process;
  if (input.isTTY && output.isTTY)
    askAtTerminal({ log: app.get(EventLog), approvals: app.get(ApprovalService), input, output });
  const identity = app.get(Identity);
  const { port } = app.getHttpServer().address() as AddressInfo;
  const url = addressOf(port, config);
  const tunnel = await openTunnel(config, url);
  if (tunnel) {
    app.get(PublicUrl).set(tunnel.url);
    process.stderr.write(`For ChatGPT: ${tunnel.url}/gpt/openapi.json\n`);
  }
  app.get(OwnTokens).announce(url);
  const code = await app.get(Logins).newCode(ownerCaller, firstCodeMs);
  process.stdout.write(`${JSON.stringify({ ready: true, url, token: identity.token, code })}\n`);
}

/** Checked first, because a port in use is the most common error. */
async function checkPort(config: Config): Promise<void> {
  const probe = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject).listen(config.port, config.host, resolve);
    });
  } catch (error) {
    throw listenError(error, config);
  } finally {
    probe.close();
  }
}

function listenError(error: unknown, { host, port }: Config): AppError {
  const { code } = error as NodeJS.ErrnoException;
  const remedy = 'stop it, or set BELAY_PORT.';
  return code === 'EADDRINUSE'
    ? new AppError('conflict', `Port ${port} on ${host} is in use by another program: ${remedy}`)
    : new AppError('unavailable', `This machine cannot listen on ${host}:${port} (${code}).`);
}

function addressOf(port: number, { host }: Config): string {
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

function sentenceOf(error: unknown): string {
  if (error instanceof AppError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
