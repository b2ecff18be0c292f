import { allowsImage, AppError, type hostCalls } from '@belay/protocol';
import type { z } from 'zod';
import type { ContainerSpec, Limits, ProgramSpec } from '../container-host.js';

type Wanted<K extends 'host.start' | 'host.startProgram'> = z.output<
  (typeof hostCalls)[K]['input']
>;

export interface MachineRulesOptions {
  /** Begins the names of all files that the server keeps on this machine. */
  prefix: string;
  /** For containers that name none, and always allowed. */
  image: string;
  /** Other images that may be used, with `*` for any characters. */
  allowedImages: readonly string[];
  limits: Limits;
}

/** What a server may use of a machine: names of its own, the images that are allowed, and no more than the limits. */
export class MachineRules {
  constructor(private readonly options: MachineRulesOptions) {}

  /** Throws `forbidden` for an image that is not allowed. */
  container({ image, ...wanted }: Wanted<'host.start'>): ContainerSpec {
    return {
      ...wanted,
      labels: labelsOf(wanted),
      image: this.image(image),
      limits: this.options.limits,
      files: this.files(wanted.files),
      folders: [],
      keptFiles: wanted.keptFiles.map((one) => ({ ...one, name: this.keptFiles(one.name) })),
    };
  }

  /** Throws `forbidden` for an image that is not allowed. */
  program({ image, workspace, archive, ...wanted }: Wanted<'host.startProgram'>): ProgramSpec {
    const { memoryMb } = this.options.limits;
    return {
      ...wanted,
      labels: labelsOf(wanted),
      image: this.image(image),
      limits: this.#within(wanted.limits),
      scratch: wanted.scratch.map((one) => ({ ...one, mb: Math.min(one.mb, memoryMb) })),
      workspace: workspace && { ...workspace, files: this.files(workspace.files) },
      folders: [],
      services: wanted.services.map((one) => ({
        ...one,
        image: this.image(one.image),
        command: one.command,
        limits: this.#within(one.limits),
      })),
      archive: archive && Buffer.from(archive),
    };
  }

  allows(image: string | null): boolean {
    const { image: own, allowedImages } = this.options;
    return image === null || image === own || allowsImage(allowedImages, image);
  }

  /** Null for the machine’s own. Throws `forbidden` for one that is not allowed. */
  image(image: string | null): string {
    if (this.allows(image)) return image ?? this.options.image;
    throw new AppError(
      'forbidden',
      `The machine does not allow the image ${image}: run “belay join” there with --allow-image ${image}.`,
    );
  }

  files(name: string): string {
    return `${this.options.prefix}${name}`;
  }

  /** Undefined for files that are not the server’s. */
  nameOf(files: string): string | undefined {
    const { prefix } = this.options;
    return files.startsWith(prefix) ? files.slice(prefix.length) : undefined;
  }

  /** Apart from the files of containers, whose names on the machine differ by their endings. */
  keptFiles(name: string): string {
    return `${this.options.prefix}${name}-kept`;
  }

  #within({ memoryMb, cpus }: Limits): Limits {
    const { limits } = this.options;
    return {
      memoryMb: Math.min(memoryMb, limits.memoryMb),
      cpus: Math.min(cpus, limits.cpus),
    };
  }
}

const labelsOf = ({ labels }: Pick<Wanted<'host.start'>, 'labels'>): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined));
