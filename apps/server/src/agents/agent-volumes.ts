import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { DockerClient, idleContainer, labels } from '@belay/containers';
import { ignoreError } from '@belay/protocol';
import { pack } from 'tar-stream';
import { Config } from '../config.js';
import { outgoingFetch } from '../egress/outgoing-fetch.js';
import type { AgentVariant, LockedPackage } from './agent-lock.js';
import { npmRegistry } from './npm-registry.js';
import { downloadPackage, type DownloadOptions } from './package-download.js';
import { addPackage } from './add-package.js';

type Progress = Pick<DownloadOptions, 'signal' | 'onBytes'>;

/** The folder of an agent's packages in sandboxes. */
export const agentFolder = (name: string): string => `/opt/agents/${name}`;

/**
 * Volumes of the engine with the packages of agents. They are filled without running anything: no install script, and
 * no container, for one that never starts suffices to unpack files.
 */
@Injectable()
export class AgentVolumes {
  constructor(
    private readonly config: Config,
    private readonly docker: DockerClient,
  ) {}

  /**
   * Downloads packages to files that are removed once `work` is done; returns their paths. Throws what
   * `downloadPackage` throws.
   */
  async withPackages<T>(
    packages: readonly LockedPackage[],
    progress: Progress,
    work: (files: ReadonlyMap<LockedPackage, string>) => Promise<T>,
  ): Promise<T> {
    const folder = join(this.config.data, 'agent-downloads');
    // Also what a killed server left.
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      const { environment } = this.config;
      const options = {
        ...progress,
        registry: await npmRegistry(environment),
        fetch: outgoingFetch(environment),
      };
      const files = new Map<LockedPackage, string>();
      for (const [index, locked] of packages.entries()) {
        const file = join(folder, `${index}.tgz`);
        await downloadPackage(locked, file, options);
        files.set(locked, file);
      }
      return await work(files);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Fills a new volume; after a failure, nothing is left. */
  async fill(
    volume: { name: string; agent: string },
    { packages }: AgentVariant,
    options: { files: ReadonlyMap<LockedPackage, string>; signal: AbortSignal },
  ): Promise<void> {
    await this.docker.removeVolume(volume.name);
    const container = await this.docker.create(
      idleContainer({
        name: `${volume.name}-fill`,
        image: this.config.image,
        labels: this.#labels,
        volume: { name: volume.name, target: agentFolder(volume.agent), labels: this.#labels },
      }),
    );
    try {
      const failed = new AbortController();
      const signal = AbortSignal.any([options.signal, failed.signal]);
      const archive = pack();
      archive.on('error', ignoreError('its writer and its reader report what failed'));
      const write = async (): Promise<void> => {
        try {
          for (const locked of packages) {
            const folder = `${agentFolder(volume.agent).slice(1)}/${locked.path}`;
            const file = options.files.get(locked) ?? '';
            await addPackage(archive, folder, { file, signal });
          }
          archive.finalize();
        } catch (error) {
          archive.destroy(error as Error);
          throw error;
        }
      };
      const unpack = this.docker.unpack(container, archive).catch((error: unknown) => {
        failed.abort(error);
        throw error;
      });
      const [written, unpacked] = await Promise.allSettled([write(), unpack]);
      // What is wrong with the packages explains why the engine got no whole archive.
      if (written.status === 'rejected') throw written.reason;
      if (unpacked.status === 'rejected') throw unpacked.reason;
    } catch (error) {
      await this.docker.remove(container);
      await this.docker
        .removeVolume(volume.name)
        .catch(ignoreError('the next start of the server removes it'));
      throw error;
    }
    await this.docker.remove(container);
  }

  async remove(volume: string): Promise<void> {
    await this.docker.removeVolume(volume);
  }

  /** Removes the remains of installs that a killed server began, and all other volumes of agents. */
  async keepOnly(volumes: readonly string[]): Promise<void> {
    for (const { id } of await this.docker.list(this.#label)) await this.docker.remove(id);
    for (const name of await this.docker.volumes(this.#label))
      if (!volumes.includes(name)) await this.docker.removeVolume(name);
  }

  volumeName(parts: readonly string[]): string {
    return ['belay-agent', this.config.instance, ...parts].join('-');
  }

  get #label(): string {
    return `${labels.agent}=${this.config.instance}`;
  }

  /** Without the label of sandboxes' volumes, which are removed with their sandboxes. */
  get #labels(): Record<string, string> {
    return { [labels.agent]: this.config.instance, [labels.data]: this.config.data };
  }
}
