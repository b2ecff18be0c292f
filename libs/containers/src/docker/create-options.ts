export interface CreateOptions {
  /** Keeps the volumes that its image declares in memory, because those of the engine have no limit. */
  boundVolumes?: boolean;
  /** Awaited with the image’s id if this call pulled it, before a container of it exists. */
  onPulled?: (id: string) => Promise<void>;
}
