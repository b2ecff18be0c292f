import type { V1Volume } from '@kubernetes/client-node';
import type { KeptFiles } from '../container-host.js';
import { claimName } from './claims.js';

/** A folder of a volume, made with its owner if it is not there. */
export interface Folder {
  volume: V1Volume;
  /** Its name in the volume. */
  name: string;
  /** Where it is mounted. */
  path: string;
  owner: number;
  mode: number;
  readOnly: boolean;
}

/** Whose claims they are. */
interface Owned {
  instance: string;
}

/** The user of programs of a hardened sandbox. */
export const user = 1000;
/** A volume with kept files. */
export const claimed = (name: string, claim: string): V1Volume => ({
  name,
  persistentVolumeClaim: { claimName: claim },
});

/** A folder that stays. */
export const keptFolder = (
  folder: Pick<Folder, 'volume' | 'name' | 'path' | 'owner'> & { readOnly?: boolean },
): Folder => ({ readOnly: false, ...folder, mode: 0o755 });

/** Files that are kept under names of their own. */
export const keptFolders = (
  files: readonly KeptFiles[],
  { instance }: Owned,
  owner: number,
): Folder[] =>
  files.map(({ name, path, readOnly }, index) =>
    keptFolder({
      volume: claimed(`kept-${index}`, claimName(instance, 'home', name)),
      name: 'files',
      path,
      owner,
      readOnly,
    }),
  );

/** The workspace of another pod. */
export const workspaceFolder = (
  { files, readOnly }: { files: string; readOnly: boolean },
  { instance }: Owned,
): Folder =>
  keptFolder({
    volume: claimed('files', claimName(instance, 'files', files)),
    name: 'workspace',
    path: '/workspace',
    owner: user,
    readOnly,
  });

/** A folder in memory, which counts as that of its container. */
export const scratchFolder = (
  name: string,
  {
    path,
    mb,
    owner,
    readOnly = false,
  }: { path: string; mb: number; owner: number; readOnly?: boolean },
): Folder => ({
  volume: { name, emptyDir: { medium: 'Memory', sizeLimit: `${mb}Mi` } },
  name: 'files',
  path,
  owner,
  mode: 0o1777,
  readOnly,
});
