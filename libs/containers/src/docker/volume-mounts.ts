import { posix, relative } from 'node:path';
import { AppError } from '@belay/protocol';
import type Docker from 'dockerode';
import { isGone } from './errors.js';

/** A folder of this process that is a volume of the engine, because the process itself runs in a container. */
export interface FolderInVolume {
  folder: string;
  volume: string;
}

type Mount = Docker.MountSettings;
type Mounted = (mount: Mount, path: string) => Mount;

/** API 1.45, of Engine 26, is the first that mounts a part of a volume. */
const mountsParts = (api: string): boolean => Number(api.split('.')[1]) >= 45;

/**
 * The mounts of what is in such a folder. The engine knows no path of this process, so it is asked for a part of the
 * volume; an older engine, for the folder in which it keeps the volume.
 */
export class VolumeMounts {
  readonly #docker: Docker;
  readonly #place: FolderInVolume;
  #mounted: Promise<Mounted> | undefined;

  constructor(docker: Docker, place: FolderInVolume) {
    this.#docker = docker;
    this.#place = place;
  }

  /** Leaves all other mounts as they are. Throws `unavailable` without such a volume, or the engine’s error. */
  async of(mounts: readonly Mount[]): Promise<Mount[]> {
    return Promise.all(
      mounts.map(async (mount) => {
        const path = relative(this.#place.folder, mount.Source);
        const isBelow = mount.Type === 'bind' && path !== '' && !path.startsWith('..');
        return isBelow ? (await this.#mount())(mount, path) : mount;
      }),
    );
  }

  #mount(): Promise<Mounted> {
    this.#mounted ??= this.#ask().catch((error: unknown) => {
      this.#mounted = undefined;
      throw error;
    });
    return this.#mounted;
  }

  async #ask(): Promise<Mounted> {
    const { volume } = this.#place;
    const { ApiVersion } = await this.#docker.version();
    const folder = await this.#mountpoint();
    return mountsParts(ApiVersion)
      ? ({ Target, ReadOnly }, path) => partOfVolume({ volume, path, Target, ReadOnly })
      : (mount, path) => ({ ...mount, Source: posix.join(folder, path) });
  }

  async #mountpoint(): Promise<string> {
    const { volume } = this.#place;
    try {
      return (await this.#docker.getVolume(volume).inspect()).Mountpoint;
    } catch (error) {
      if (!isGone(error)) throw error;
      const remedy = 'set BELAY_SOCKET_VOLUME to the volume that is mounted there.';
      throw new AppError('unavailable', `Docker has no volume ${volume} for sockets: ${remedy}`);
    }
  }
}

function partOfVolume({
  volume,
  path,
  ...mount
}: { volume: string; path: string } & Pick<Mount, 'Target' | 'ReadOnly'>): Mount {
  const options = { NoCopy: true, Labels: {}, DriverConfig: { Name: '', Options: {} } };
  // The types lack `Subpath`.
  const part = { ...options, Subpath: path };
  return { Type: 'volume', Source: volume, ...mount, VolumeOptions: part };
}
