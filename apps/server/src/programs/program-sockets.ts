import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hosts } from '@belay/containers';
import { Injectable } from '@nestjs/common';
import { Config } from '../config.js';
import { makePrivateFolder } from '@belay/host';
import { openProgramSocket, type ProgramServices, type ProgramSocket } from './program-socket.js';

/** The sockets of programs in containers, each in a folder of its own; those of an earlier server are removed. */
@Injectable()
export class ProgramSockets {
  readonly #folders: readonly string[];
  readonly #root: string;
  #made: Promise<void> | undefined;

  constructor({ runtimeFolder, instance }: Config) {
    this.#root = join(runtimeFolder, instance, 'programs');
    this.#folders = [runtimeFolder, join(runtimeFolder, instance), this.#root];
  }

  /** `names` are additional names of loopback, as in lines of `/etc/hosts`. */
  async open(services: ProgramServices, names: readonly string[] = []): Promise<ProgramSocket> {
    await (this.#made ??= this.#makeRoot());
    const id = randomBytes(6).toString('hex');
    return openProgramSocket({ root: this.#root, id, hosts: hosts.content(names) }, services);
  }

  async #makeRoot(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
    for (const folder of this.#folders) await makePrivateFolder(folder);
  }
}
