import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Where this user’s Unix sockets are; short, for a socket’s path has at most 107 bytes. */
export const runtimeFolder = (xdgRuntimeDir: string | undefined): string =>
  xdgRuntimeDir ? join(xdgRuntimeDir, 'belay') : join(tmpdir(), `belay-${userId()}`);

/** `os.userInfo` throws for a user without an entry in the passwd file. */
function userId(): number {
  try {
    return userInfo().uid;
  } catch {
    return process.getuid?.() ?? 0;
  }
}
