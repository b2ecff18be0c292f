import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { ContainerHost, type SharedFolder } from '@belay/containers';
import { isWithin, realFolder, sameEnds } from '@belay/host';
import { AppError, type NewMount, type SandboxProfile, type SessionMount } from '@belay/protocol';
import { Config } from '../config.js';

/** System folders, with everything below them. */
const system =
  /^\/(bin|boot|dev|etc|lib\w*|proc|run|sbin|sys|usr|var\/lib\/(docker|containerd|dpkg|apt)|var\/run)(\/|$)/;
/** General folders, which cannot be shared themselves; folders inside them can. */
const wide = /^\/(home|mnt|opt|root|srv|tmp|var|var\/lib|var\/tmp)?$/;
/** Folders with keys and logins in a user’s home. */
const secrets = ['.ssh', '.gnupg', '.aws', '.azure', '.docker', '.kube', '.password-store'];

/** Folders of the host that sessions share. Only an admin may ask for one; the allowed folders are decided here. */
@Injectable()
export class HostFolders {
  constructor(
    private readonly config: Config,
    private readonly host: ContainerHost,
  ) {}

  /**
   * The mounts of a new session for the requested folders. Throws `invalid_input` with one sentence for a folder that
   * cannot be shared.
   */
  async choose(
    wanted: readonly NewMount[],
    { profile, onMachine }: { profile: SandboxProfile; onMachine: boolean },
  ): Promise<SessionMount[]> {
    if (wanted.length > 0 && onMachine)
      throw refused('A session on a joined machine has the folders of that machine: share none.');
    if (wanted.length > 0 && !this.host.can.folders)
      throw refused(`${this.host.name} cannot share folders: share none.`);
    const chosen: SessionMount[] = [];
    for (const { folder, readOnly = false } of wanted) {
      const real = await this.#checked(folder);
      if (profile === 'root' && !readOnly)
        throw refused(
          `Root in a sandbox could leave programs in ${folder} that run as root on the host: share it read-only (:ro), or do not use the profile root.`,
        );
      if (chosen.some((one) => one.folder === real))
        throw refused(`The folder ${folder} is shared twice: name it once.`);
      chosen.push({ folder: real, readOnly, path: freePath(real, chosen) });
    }
    return chosen;
  }

  /** Repeats the checks before each start. Throws when a folder is gone, or its path now leads elsewhere. */
  async hold(mounts: readonly SessionMount[]): Promise<SharedFolder[]> {
    return Promise.all(
      mounts.map(async (mount) => {
        const real = await this.#checked(mount.folder);
        if (real !== mount.folder)
          throw refused(
            `The shared folder ${mount.folder} is at ${real} now: begin a new session with that one.`,
          );
        const { dev: device, ino: inode } = await stat(real, { bigint: true });
        return { ...mount, device, inode };
      }),
    );
  }

  async #checked(folder: string): Promise<string> {
    const real = await realFolder(folder);
    const home = this.config.environment['HOME'] ?? homedir();
    const closed = [
      this.config.data,
      this.config.runtimeFolder,
      ...this.host.closedPaths,
      ...secrets.map((name) => join(home, name)),
    ];
    const own = await Promise.all(closed.map(sameEnds));
    const holdsSecrets = await Promise.all(secrets.map((name) => identity(join(real, name))));
    const why = [
      [wide.test(real), 'is too broad to share: name a folder below it'],
      [system.test(real), 'belongs to the system: name one with files of yours'],
      [
        own.some((one) => isWithin(real, one) || isWithin(one, real)),
        'holds or is in Belay’s own data, the Docker socket, or keys of yours: name another one',
      ],
      [
        holdsSecrets.some(Boolean) || real.split('/').some((name) => secrets.includes(name)),
        'has keys of a user: name a folder without them',
      ],
    ] as const;
    const [, words] = why.find(([holds]) => holds) ?? [];
    if (words === undefined) return real;
    throw refused(`The folder ${folder}${real === folder ? '' : ` (${real})`} ${words}.`);
  }
}

async function identity(path: string): Promise<{ dev: bigint; ino: bigint } | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}

const refused = (sentence: string): AppError => new AppError('invalid_input', sentence);

/** `/mnt/NAME`, with a name that is not taken. */
function freePath(folder: string, taken: readonly SessionMount[]): string {
  const name = basename(folder).replaceAll(/[^\w.-]/g, '_');
  for (let number = 1; ; number++) {
    const path = `/mnt/${name}${number === 1 ? '' : `-${number}`}`;
    if (!taken.some((one) => one.path === path)) return path;
  }
}
