import { join } from 'node:path';

type Variables = Readonly<Record<string, string>>;

/**
 * The environment in which package tools work in a sandbox. Debian’s pip refuses to install beside apt’s packages (PEP
 * 668); here it installs into the home folder, whose programs are in PATH. Variables set by the image are kept.
 */
export function withPackageTools(image: Variables, home: string): Record<string, string> {
  const path = image['PATH'] ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  return {
    PIP_BREAK_SYSTEM_PACKAGES: '1',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_ROOT_USER_ACTION: 'ignore',
    UV_BREAK_SYSTEM_PACKAGES: '1',
    ...image,
    HOME: home,
    // Last, so that programs installed there cannot replace the shell of later commands.
    PATH: [path, ...programFolders.map((folder) => join(home, folder))].join(':'),
  };
}

const programFolders = ['.local/bin', '.cargo/bin', 'go/bin'];
