import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import {
  ContainerHost,
  labels,
  type ProgramSpec,
  type ProgramContainer,
  type ProgramServices,
} from '@belay/containers';
import { AppError, type ActionManifest, type ProgramStart } from '@belay/protocol';
import { untilAborted } from '@belay/rpc';
import { z } from 'zod';
import { Config } from '../../config.js';
import { EgressService } from '../../egress/egress.service.js';
import { hostRegistries } from '../../egress/host-registries.js';
import { toolSettings } from '../../egress/tool-settings.js';
import { ContainedPrograms } from '../../programs/contained-programs.js';
import { digestOf, actionTar, type ActionFile } from '../action-files.js';
import { OutputLines } from '../output-lines.js';
import { buildCommand } from './build-command.js';

export const pulledImage = z.object({
  /** The name in the manifest. */
  name: z.string(),
  id: z.string(),
});
export type PulledImage = z.infer<typeof pulledImage>;

export interface WantedImage {
  /** The action’s name. */
  name: string;
  files: readonly ActionFile[];
  /** Null for the image of sandboxes. */
  base: string | null;
  packages: ActionManifest['packages'];
  /** Declared hosts; the set-up can reach these and the package registries. */
  hosts: readonly string[];
}

export interface InstallOptions {
  /** Called with each line of the set-up’s log. */
  onLine(line: string): void;
  signal: AbortSignal;
}

export interface MakeOptions extends InstallOptions {
  /** Awaited once a missing base image was pulled. */
  onPulled(image: PulledImage): Promise<void>;
}

/** Registries that the set-up can install packages from. */
const registries = ['@apt', '@npm', '@pypi'];

/**
 * Makes images of actions: a container of the base image gets the files, runs the set-up and is saved. Unlike a build of
 * an engine, this container has our limits and no network, and no Dockerfile can escape it.
 */
@Injectable()
export class ActionImages {
  constructor(
    private readonly config: Config,
    private readonly host: ContainerHost,
    private readonly programs: ContainedPrograms,
    private readonly egress: EgressService,
  ) {}

  /**
   * Returns the image’s id, which is the same for the same files, base and packages. Throws an `AppError` with one
   * sentence.
   */
  async make(wanted: WantedImage, options: MakeOptions): Promise<string> {
    const { files, packages } = wanted;
    const { images } = this.host;
    if (!this.host.can.images)
      throw new AppError(
        'unavailable',
        `${this.host.name} cannot make images, so no actions can be installed.`,
      );
    const command = buildCommand(packages, {
      hasSetup: files.some(({ path }) => path === 'setup'),
      variables: await toolSettings(this.config.environment),
    });
    const base = wanted.base ?? this.config.image;
    const made = await this.#fetch(wanted, options);
    const tag = tagOf({ base: made ?? base, command, files: digestOf(files) });
    const name = `belay-action-${this.config.instance}:${tag}`;
    const cached = await images.madeAs(name);
    if (cached !== undefined) {
      options.onLine('The image already exists from an earlier install.');
      return cached;
    }
    const spec = this.#spec(wanted, await actionTar(files, 'action'));
    const services = await this.#services(wanted, options);
    const container = await this.programs.open(spec, services, options.signal);
    try {
      if (command) await this.#run(container, command, options);
      options.signal.throwIfAborted();
      options.onLine('Saving the image …');
      await container.end();
      return await images.make(spec.id, {
        name,
        entrypoint: ['/usr/bin/env'],
        user: '1000:1000',
      });
    } finally {
      await container.remove();
    }
  }

  /**
   * Removes the images with these ids, and the remains of making them. Their containers are removed first: those of
   * running calls, and those kept for later calls.
   */
  async remove(images: readonly string[]): Promise<void> {
    await this.programs.end(({ image }) => images.includes(image));
    for (const image of images) await this.host.images.remove(image);
  }

  /** Removes all other images of actions that this server made. */
  async keepOnly(images: readonly string[]): Promise<void> {
    const made = await this.host.images.made();
    await this.remove(made.filter((image) => !images.includes(image)));
  }

  /** Ends the calls of this action, and their services. */
  async endCalls(action: string): Promise<void> {
    await this.programs.end((spec) => spec.labels[labels.action] === action);
  }

  /**
   * Removes these names from their images, and images without another name; returns the names that are gone. An image
   * stays while a container uses it, or if one of the needed names refers to it.
   */
  async removePulled(
    images: readonly PulledImage[],
    needed: readonly string[],
  ): Promise<PulledImage[]> {
    const known = this.host.images;
    const neededIds = new Set<string>();
    for (const name of needed) neededIds.add((await known.id(name)) ?? '');
    const gone: PulledImage[] = [];
    for (const image of images) {
      if (neededIds.has(image.id)) continue;
      // Another image of the same name was not pulled by this server.
      const isOurs = (await known.id(image.name)) === image.id;
      if (!isOurs || (await known.release(image.name))) gone.push(image);
    }
    return gone;
  }

  /** Returns the id of the base image. */
  async #fetch({ base }: WantedImage, { onPulled }: MakeOptions): Promise<string | undefined> {
    const { images } = this.host;
    const name = base ?? this.config.image;
    const isFetched = await images.fetch(name);
    const id = await images.id(name);
    // The sandbox image does not belong to an action.
    if (isFetched && base !== null && id !== undefined) await onPulled({ name, id });
    return id;
  }

  /** Access to package registries (also those in the host’s own settings) and to the declared hosts. */
  async #services({ name, hosts }: WantedImage, { onLine }: MakeOptions): Promise<ProgramServices> {
    const own = await hostRegistries(this.config.environment);
    const origin = {
      name: `The setup of the action ${name}`,
      session: null,
      hosts: [...registries, ...own.map(({ host, port }) => `${host}:${port}`), ...hosts],
      refused: onLine,
    };
    return { connect: (target) => this.egress.connectProgram(origin, target) };
  }

  #spec({ name, base }: WantedImage, archive: Buffer): ProgramSpec {
    const { memoryMb, cpus } = this.config;
    return {
      id: randomBytes(6).toString('hex'),
      label: `action-${name}-setup`,
      labels: { [labels.action]: name },
      image: base ?? this.config.image,
      rights: 'build',
      user: 0,
      limits: { memoryMb, cpus },
      // Not part of the image.
      scratch: ['/tmp', '/run'].map((path) => ({ path, mb: memoryMb })),
      workspace: null,
      folders: [],
      services: [],
      archive,
      writtenMb: this.config.actionImageMb,
    };
  }

  /** Resolves when the set-up has succeeded. */
  async #run(
    container: ProgramContainer,
    command: ProgramStart['command'],
    { onLine, signal }: InstallOptions,
  ): Promise<void> {
    const { actionSetupSeconds: seconds, actionImageMb: mebibytes } = this.config;
    const late = new AbortController();
    const tooLong = new AppError(
      'timeout',
      `The setup took more than ${seconds} s. Make it shorter, or raise BELAY_ACTION_SETUP_S.`,
    );
    const timer = setTimeout(() => late.abort(tooLong), seconds * 1_000).unref();
    try {
      const running = await container.run({
        command,
        folder: '/',
        env: {},
        egress: true,
        services: {},
        output: null,
      });
      running.input.end();
      const follow = async () => {
        const lines = new OutputLines(onLine);
        for await (const { data } of running.output) lines.add(data);
        lines.end();
        return running.ended;
      };
      const end = await untilAborted(AbortSignal.any([signal, late.signal]), follow());
      if (end.code === 0) return;
      if (end.wroteTooMuch)
        throw new AppError(
          'too_large',
          `The setup wrote more than ${mebibytes} MiB. Make it smaller, or raise BELAY_ACTION_IMAGE_MB.`,
        );
      const reason = end.outOfMemory ? 'ran out of memory' : `ended with code ${end.code ?? '?'}`;
      throw new AppError('tool_failed', `The setup ${reason}. Its log says why.`);
    } finally {
      clearTimeout(timer);
    }
  }
}

const tagOf = (content: object): string =>
  createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 32);
