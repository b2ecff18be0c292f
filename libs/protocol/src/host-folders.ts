import { z } from 'zod';

const hostPath = z
  .string()
  .min(1)
  .max(1_000)
  // oxlint-disable-next-line no-control-regex
  .regex(/^\/[^\u0000-\u001f\u007f]*$/, 'the absolute path of a folder on the server’s machine');

/** The maximum number of host folders in one session. */
export const mostMounts = 10;

/** A host folder for a new session. */
export const newMount = z.object({
  folder: hostPath,
  readOnly: z.boolean().default(false).describe('Whether the folder is read-only for the agent.'),
});
export type NewMount = z.input<typeof newMount>;

/** A host folder in a session. */
export const sessionMount = z.object({
  folder: hostPath.describe('The path on the host, with links resolved.'),
  path: z.string().describe('The path in the sandbox.'),
  readOnly: z.boolean(),
});
export type SessionMount = z.infer<typeof sessionMount>;

/** `DIR`, `DIR:ro` or `DIR:rw`, as users write it. */
export function mountIn(text: string): { folder: string; readOnly: boolean } {
  const [, folder = text, mode] = /^(.+):(ro|rw)$/s.exec(text) ?? [];
  return { folder, readOnly: mode === 'ro' };
}

/** The folder’s path in the sandbox and whether it is read-only, in a few characters. */
export const mountMark = ({ path, readOnly }: SessionMount): string =>
  `${path}${readOnly ? ' (read-only)' : ''}`;

/** For users and models, such as “/mnt/data is /srv/data of the host, read-only”. */
export const mountWords = ({ folder, path, readOnly }: SessionMount): string =>
  `${path} is ${folder} of the host, ${readOnly ? 'read-only' : 'to read and change'}`;
