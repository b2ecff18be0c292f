import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import Docker from 'dockerode';
import { z } from 'zod';
import { Config } from '../config.js';
import { dockerError, isGone, pullFailed } from './docker-errors.js';

const engineEvent = z.object({
  Action: z.string(),
  Actor: z.object({ ID: z.string(), Attributes: z.record(z.string(), z.string()).default({}) }),
});

export interface EngineEvent {
  action: string;
  container: string;
  labels: Record<string, string>;
}

export interface FoundContainer {
  id: string;
  running: boolean;
  labels: Record<string, string>;
}

/** How a container ended. */
export interface Exit {
  code: number;
  outOfMemory: boolean;
  error: string;
}

/** The engine, as far as sandboxes need it. The only file that speaks to Docker; throws `AppError`. */
@Injectable()
export class DockerClient {
  private readonly docker: Docker;
  private readonly pulls = new Map<string, Promise<void>>();
  private cpuCount: Promise<number> | undefined;

  constructor(config: Config) {
    const host = config.dockerHost;
    this.docker = host ? new Docker({ socketPath: host.slice('unix://'.length) }) : new Docker();
  }

  async ping(): Promise<void> {
    await this.ask(this.docker.ping());
  }

  /** The machine's processors. */
  cpus(): Promise<number> {
    this.cpuCount ??= this.ask(this.docker.info()).then(
      (info: { NCPU: number }) => info.NCPU,
      (error: unknown) => {
        this.cpuCount = undefined;
        throw error;
      },
    );
    return this.cpuCount;
  }

  async hasImage(image: string): Promise<boolean> {
    return this.exists(this.docker.getImage(image).inspect());
  }

  /** False when the image is not there, too. */
  async imageHasLabel(image: string, label: string): Promise<boolean> {
    const found = await this.found(this.docker.getImage(image).inspect());
    return found?.Config?.Labels?.[label] !== undefined;
  }

  /** The labels of a volume; undefined when there is none. */
  async volumeLabels(name: string): Promise<Record<string, string> | undefined> {
    const found = await this.found(this.docker.getVolume(name).inspect());
    return found && (found.Labels ?? {});
  }

  /** The image of a container; undefined when there is none. */
  async imageOf(container: string): Promise<string | undefined> {
    return (await this.found(this.docker.getContainer(container).inspect()))?.Image;
  }

  /** The user that a container runs as; empty when there is no such container. */
  async userOf(container: string): Promise<string> {
    return (await this.found(this.docker.getContainer(container).inspect()))?.Config.User ?? '';
  }

  async removeVolume(name: string): Promise<void> {
    await this.exists(this.docker.getVolume(name).remove({ force: true }));
  }

  async volumes(label: string): Promise<string[]> {
    const filters = JSON.stringify({ label: [label] });
    // The types want an object; the engine wants its JSON.
    const list = await this.ask(this.docker.listVolumes({ filters: filters as never }));
    return (list.Volumes ?? []).map((volume) => volume.Name);
  }

  /** Creates a container, pulling its image when it is missing; answers its id. */
  async create(spec: Docker.ContainerCreateOptions): Promise<string> {
    try {
      return (await this.docker.createContainer(spec)).id;
    } catch (error) {
      if (!isGone(error) || !spec.Image) throw dockerError(error);
    }
    await this.pull(spec.Image);
    return (await this.ask(this.docker.createContainer(spec))).id;
  }

  async start(container: string): Promise<void> {
    await this.ask(this.docker.getContainer(container).start());
  }

  /** Kills and removes a container with its anonymous volumes; fine when it is gone already. */
  async remove(container: string): Promise<void> {
    await this.exists(this.docker.getContainer(container).remove({ force: true, v: true }));
  }

  async list(label: string): Promise<FoundContainer[]> {
    const filters = { label: [label] };
    const found = await this.ask(this.docker.listContainers({ all: true, filters }));
    return found.map(({ Id, State, Labels }) => ({
      id: Id,
      running: State === 'running' || State === 'paused',
      labels: Labels,
    }));
  }

  /** How the container ended; null while it runs, undefined when it is not there. */
  async exit(container: string): Promise<Exit | null | undefined> {
    const found = await this.found(this.docker.getContainer(container).inspect());
    if (!found) return undefined;
    const { Running, ExitCode, OOMKilled, Error: error } = found.State;
    return Running ? null : { code: ExitCode, outOfMemory: OOMKilled, error };
  }

  /** The last lines that the container printed. */
  async lastLines(container: string, lines = 20): Promise<string> {
    const options = { stdout: true, stderr: true, follow: false as const, tail: lines };
    const raw = await this.found(this.docker.getContainer(container).logs(options));
    return raw ? plainText(raw) : '';
  }

  /**
   * What happens to the containers with this label, from now on. Ends, without an error, when the engine stops;
   * what happened before it is followed again is not told.
   */
  async events(label: string, signal: AbortSignal): Promise<AsyncIterable<EngineEvent>> {
    const filters = { type: ['container' as const], label: [label] };
    const stream = (await this.ask(this.docker.getEvents({ filters }))) as Readable;
    const end = (): void => void stream.destroy();
    // A stream that breaks is one that ends: who follows begins again.
    stream.on('error', end);
    signal.addEventListener('abort', end, { once: true });
    stream.once('close', () => signal.removeEventListener('abort', end));
    if (signal.aborted) end();
    return readEvents(stream);
  }

  private async pull(image: string): Promise<void> {
    const running = this.pulls.get(image);
    if (running) return running;
    const pull = this.pullOnce(image).finally(() => this.pulls.delete(image));
    this.pulls.set(image, pull);
    return pull;
  }

  private async pullOnce(image: string): Promise<void> {
    try {
      const progress = (await this.docker.pull(image)) as Readable;
      await new Promise<void>((resolve, reject) => {
        this.docker.modem.followProgress(progress, (error) => (error ? reject(error) : resolve()));
      });
    } catch (error) {
      throw pullFailed(image, error);
    }
  }

  private async ask<T>(request: Promise<T>): Promise<T> {
    try {
      return await request;
    } catch (error) {
      throw dockerError(error);
    }
  }

  private async found<T>(request: Promise<T>): Promise<T | undefined> {
    try {
      return await request;
    } catch (error) {
      if (isGone(error)) return undefined;
      throw dockerError(error);
    }
  }

  private async exists(request: Promise<unknown>): Promise<boolean> {
    try {
      await request;
      return true;
    } catch (error) {
      if (isGone(error)) return false;
      throw dockerError(error);
    }
  }
}

async function* readEvents(stream: Readable): AsyncIterable<EngineEvent> {
  if (stream.destroyed) return;
  const lines = createInterface({ input: stream, crlfDelay: Infinity });
  // Lines of a stream that was destroyed would never end by themselves.
  stream.once('close', () => lines.close());
  for await (const line of lines) {
    const event = engineEvent.safeParse(JSON.parse(line));
    if (!event.success) continue;
    const { Action, Actor } = event.data;
    yield { action: Action, container: Actor.ID, labels: Actor.Attributes };
  }
}

/** The engine puts eight bytes before each piece of output: stream, three zeros, length. */
function plainText(raw: Buffer): string {
  const pieces: string[] = [];
  for (let at = 0; at + 8 <= raw.length;) {
    const end = at + 8 + raw.readUInt32BE(at + 4);
    pieces.push(raw.toString('utf8', at + 8, end));
    at = end;
  }
  return pieces.join('').trim();
}
