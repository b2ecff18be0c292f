import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Injectable } from '@nestjs/common';
import { DockerClient } from '@belay/containers';
import { AppError, type NewMount, type SandboxProfile, type SessionMount } from '@belay/protocol';
import { Config } from '../../config.js';
import { isWithin, realFolder, sameEnds } from '../../programs/real-folder.js';

/** A folder with the identity that it had when it was checked; its path may lead elsewhere later. */
export interface HeldFolder extends SessionMount {
  device: bigint;
  inode: bigint;
}

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
    private readonly docker: DockerClient,
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
  async hold(mounts: readonly SessionMount[]): Promise<HeldFolder[]> {
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

  /**
   * Asserts that a started container got exactly the folders that were checked. Throws `forbidden` when one was
   * exchanged meanwhile; the container has run only the agent by then, which has no session yet.
   */
  async assertMounted(container: string, held: readonly HeldFolder[]): Promise<void> {
    if (held.length === 0) return;
    const pid = await this.docker.pidOf(container);
    for (const folder of held) {
      const seen =
        pid === undefined ? undefined : await identity(`/proc/${pid}/root${folder.path}`);
      if (seen) assertSame(folder, seen);
      // Only root can see into a container. Otherwise the mount is known only if nobody else can exchange the folder.
      else await this.#assertOwnAlone(folder, container);
    }
  }

  async #checked(folder: string): Promise<string> {
    const real = await realFolder(folder);
    const home = this.config.environment['HOME'] ?? homedir();
    const closed = [
      this.config.data,
      this.config.runtimeFolder,
      this.docker.socket,
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

  async #assertOwnAlone(folder: HeldFolder, container: string): Promise<void> {
    const seen = await identity(folder.folder);
    if (seen) assertSame(folder, seen);
    const others = await this.docker.writableFolders(container);
    const within = others.find((one) => one !== folder.folder && isWithin(folder.folder, one));
    if (within !== undefined) throw exchanged(folder, `another session may change ${within}`);
    const own = process.getuid?.();
    for (let above = dirname(folder.folder); ; above = dirname(above)) {
      const { uid, mode } = await stat(above);
      const isSticky = (mode & 0o1000) !== 0;
      if ((uid !== 0 && uid !== own) || ((mode & 0o022) !== 0 && !isSticky))
        throw exchanged(folder, `other users may change ${above}`);
      if (above === '/') return;
    }
  }
}

async function identity(path: string): Promise<{ dev: bigint; ino: bigint } | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}

function assertSame(folder: HeldFolder, { dev, ino }: { dev: bigint; ino: bigint }): void {
  if (dev !== folder.device || ino !== folder.inode)
    throw exchanged(folder, 'another one was mounted in its place');
}

const exchanged = ({ folder }: SessionMount, why: string): AppError =>
  new AppError('forbidden', `The folder ${folder} cannot be shared, for ${why}.`);

const refused = (sentence: string): AppError => new AppError('invalid_input', sentence);

/** `/mnt/NAME`, with a name that is not taken. */
function freePath(folder: string, taken: readonly SessionMount[]): string {
  const name = basename(folder).replaceAll(/[^\w.-]/g, '_');
  for (let number = 1; ; number++) {
    const path = `/mnt/${name}${number === 1 ? '' : `-${number}`}`;
    if (!taken.some((one) => one.path === path)) return path;
  }
}
