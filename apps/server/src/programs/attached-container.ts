import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Logger } from '@nestjs/common';
import { type ContainerCreateOptions, type DockerClient, outputPieces } from '@belay/containers';
import { AppError, errorFrom, ignoreError } from '@belay/protocol';
import { inTime } from '@belay/rpc';
import type { ProgramEnd, RunningProgram } from './program.js';

/** The time between the end of its input and its kill. */
const killDelayMs = 2_000;
/** How long the engine may take to report the exit, and to remove the container. */
const exitTimeoutMs = 2_000;
const removalTimeoutMs = 10_000;
const logger = new Logger('AttachedContainer');

/**
 * Starts a container whose input and output are connected to this server; it is removed at its end, or when its start
 * fails. Throws the engine’s error; when `signal` aborts, its reason.
 */
export async function startAttached(
  docker: DockerClient,
  spec: ContainerCreateOptions,
  signal: AbortSignal,
): Promise<RunningProgram & { container: string }> {
  const container = await docker.create(spec, { boundVolumes: true });
  let stream: Duplex | undefined;
  try {
    signal.throwIfAborted();
    stream = await docker.attach(container);
    // Readers receive errors too; an error without a listener would end the server.
    stream.on('error', ignoreError('the stream closes'));
    const running = follow(docker, container, stream);
    await docker.start(container);
    signal.throwIfAborted();
    return { ...running, container };
  } catch (error) {
    stream?.destroy();
    await removeContainer(docker, container);
    throw error;
  }
}

/** Never rejects: remains are removed at the server’s next start. */
export async function removeContainer(docker: DockerClient, container: string): Promise<void> {
  await inTime(docker.remove(container), removalTimeoutMs, () => {
    throw new AppError('timeout', 'Docker does not remove it.');
  }).catch((error: unknown) =>
    logger.warn(`A program’s container could not be removed: ${errorFrom(error).message}`),
  );
}

function follow(docker: DockerClient, container: string, stream: Duplex): RunningProgram {
  let stopping = false;
  const closed = once(stream, 'close').catch(ignoreError('it closes after an error, too'));
  const ended = closed.then(async () => {
    const end = stopping ? {} : await programEnd(() => docker.exit(container));
    await removeContainer(docker, container);
    return end;
  });
  const stop = async (): Promise<ProgramEnd> => {
    if (!stream.destroyed) {
      stopping = true;
      stream.end();
      await inTime(closed, killDelayMs, () => undefined);
      stream.destroy();
    }
    return ended;
  };
  return { input: stream, output: outputPieces(stream), ended, stop };
}

/**
 * How a program ended after its output ended, which is a moment before the engine knows the exit: until then, `ask`
 * returns null. Never rejects.
 */
export async function programEnd(
  ask: () => Promise<ProgramEnd | null | undefined>,
): Promise<ProgramEnd> {
  const last = Date.now() + exitTimeoutMs;
  try {
    for (;;) {
      const exit = await ask();
      if (exit || exit === undefined || Date.now() > last) return exit ?? {};
      await delay(50);
    }
  } catch {
    return {};
  }
}
