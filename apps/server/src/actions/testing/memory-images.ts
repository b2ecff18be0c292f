import type {
  ActionImages,
  MakeOptions,
  PulledImage,
  WantedImage,
} from '../containers/action-images.js';

/** The engine’s images in memory: those requested and those present. */
export class MemoryImages implements Pick<ActionImages, keyof ActionImages> {
  readonly made: WantedImage[] = [];
  images: string[] = [];
  /** Runs in place of the set-up. */
  onMake: (wanted: WantedImage, options: MakeOptions) => Promise<void> = () => Promise.resolve();

  async make(wanted: WantedImage, options: MakeOptions): Promise<string> {
    this.made.push(wanted);
    const image = `sha256:${this.made.length}`;
    await this.onMake(wanted, options);
    this.images.push(image);
    return image;
  }

  async remove(images: readonly string[]): Promise<void> {
    this.images = this.images.filter((one) => !images.includes(one));
  }

  async endCalls(): Promise<void> {}

  async removePulled(images: readonly PulledImage[]): Promise<PulledImage[]> {
    return [...images];
  }

  async keepOnly(images: readonly string[]): Promise<void> {
    this.images = this.images.filter((one) => images.includes(one));
  }
}
