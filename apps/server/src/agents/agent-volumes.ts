import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ContainerHost } from '@belay/containers';
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
 * Files with the packages of agents, which containers share. They are filled without running anything, not even an
 * install script.
 */
@Injectable()
export class AgentVolumes {
  constructor(
    private readonly config: Config,
    private readonly host: ContainerHost,
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
    volume: string,
    { packages }: AgentVariant,
    options: { files: ReadonlyMap<LockedPackage, string>; signal: AbortSignal },
  ): Promise<void> {
    const failed = new AbortController();
    const signal = AbortSignal.any([options.signal, failed.signal]);
    const archive = pack();
    archive.on('error', ignoreError('its writer and its reader report what failed'));
    const write = async (): Promise<void> => {
      try {
        for (const locked of packages) {
          const file = options.files.get(locked) ?? '';
          await addPackage(archive, locked.path, { file, signal });
        }
        archive.finalize();
      } catch (error) {
        archive.destroy(error as Error);
        throw error;
      }
    };
    const fill = this.host.keptFiles.fill(volume, archive).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
    const [written, filled] = await Promise.allSettled([write(), fill]);
    // What is wrong with the packages explains why the host got no whole archive.
    if (written.status === 'rejected') throw written.reason;
    if (filled.status === 'rejected') throw filled.reason;
  }

  async remove(volume: string): Promise<void> {
    await this.host.keptFiles.remove(volume);
  }

  /** Removes the remains of installs that a killed server began, and all other volumes of agents. */
  async keepOnly(volumes: readonly string[]): Promise<void> {
    await this.host.keptFiles.keepOnly(volumes);
  }
}
