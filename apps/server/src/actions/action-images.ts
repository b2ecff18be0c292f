import { Injectable } from '@nestjs/common';
import type { ActionManifest } from '@belay/protocol';
import { z } from 'zod';
import { Registered } from '../registered.js';
import type { ActionFile } from './action-files.js';

export const pulledImage = z.object({
  /** As a manifest names it. */
  name: z.string(),
  id: z.string(),
});
export type PulledImage = z.infer<typeof pulledImage>;

export interface WantedImage {
  /** Of the action. */
  name: string;
  files: readonly ActionFile[];
  /** Null is the image of sandboxes. */
  base: string | null;
  packages: ActionManifest['packages'];
  /** What it declares; the set-up reaches them and the package registries. */
  hosts: readonly string[];
}

export interface InstallOptions {
  /** Called with each line of its log. */
  onLine(line: string): void;
  signal: AbortSignal;
}

export interface MakeOptions extends InstallOptions {
  /** Awaited once a base image that was not there is. */
  onPulled(image: PulledImage): Promise<void>;
}

export interface ImageMaker {
  /** The id of the image: the same one for the same files, base and packages. Throws a sentence as an `AppError`. */
  make(wanted: WantedImage, options: MakeOptions): Promise<string>;
  /** Removes the images with these ids, and what is left of their making. */
  remove(images: readonly string[]): Promise<void>;
  /** Removes all other images of actions that this server made. */
  keepOnly(images: readonly string[]): Promise<void>;
  /** Ends the calls of this action, with its services. */
  endCalls(action: string): Promise<void>;
  /**
   * Takes their names from these images, and removes those that have no other; returns which are gone. One that a
   * container uses stays, as does one that is called by one of the needed names, too.
   */
  removePulled(images: readonly PulledImage[], needed: readonly string[]): Promise<PulledImage[]>;
}

/** Makes images of actions; the layer above has the engine and registers itself. */
@Injectable()
export class ActionImages extends Registered<ImageMaker> {}
