import { constants } from 'node:fs';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import type { Server } from 'node:net';
import { dirname, join } from 'node:path';
import { AppError } from '@belay/protocol';

/**
 * The folder of one sandbox’s socket and small files, which is mounted into its container. What goes in is made in a
 * folder that only this user reaches and then renamed, so nothing that a sandbox could ever place there is followed.
 */
export class ConnectionFolder {
  readonly path: string;
  readonly #staging: string;

  constructor(root: string, sandbox: string) {
    this.path = join(root, sandbox);
    this.#staging = join(root, `~${sandbox}`);
  }

  /** Makes it, or takes it over for a container that has it already. Throws when it is a link. */
  async make(): Promise<void> {
    await mkdir(this.path, { mode: 0o755 }).catch(unlessThere);
    // Readable whatever the server’s umask is.
    await setMode(this.path, 0o755);
  }

  /** `create` makes a file at the path that it gets, which then replaces the one of this name. */
  async place(name: string, mode: number, create: (path: string) => Promise<void>): Promise<void> {
    await this.#removeStaging();
    await mkdir(this.#staging, { mode: 0o700 });
    try {
      const made = join(this.#staging, name);
      await create(made);
      await chmod(made, mode);
      await rename(made, join(this.path, name));
    } finally {
      await this.#removeStaging();
    }
  }

  /** Has a server listen at a socket of this name, which every user of the container reaches. */
  async listen(name: string, server: Server): Promise<void> {
    const listening = (path: string) =>
      new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen(path, resolve);
      });
    await this.place(name, 0o666, listening);
  }

  async remove(): Promise<void> {
    await this.#removeStaging();
    await rm(this.path, { recursive: true, force: true });
  }

  async #removeStaging(): Promise<void> {
    await rm(this.#staging, { recursive: true, force: true });
  }
}

/**
 * Makes the folder for this user alone, and the one above it. In a temporary folder another user could have put a folder
 * or a link in its place: throws `unavailable`, and touches neither.
 */
export async function makePrivateFolder(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await mkdir(path, { mode: 0o700 }).catch(unlessThere);
  await setMode(path, 0o700);
}

async function setMode(path: string, mode: number): Promise<void> {
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const folder = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => {
    throw notOurs(path);
  });
  try {
    if ((await folder.stat()).uid !== process.getuid?.()) throw notOurs(path);
    await folder.chmod(mode);
  } finally {
    await folder.close();
  }
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

function notOurs(path: string): AppError {
  return new AppError(
    'unavailable',
    `The folder ${path} belongs to another user or is a link: remove it, or set XDG_RUNTIME_DIR.`,
  );
}
