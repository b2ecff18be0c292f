import { z } from 'zod';

const hostPath = z
  .string()
  .min(1)
  .max(1_000)
  // oxlint-disable-next-line no-control-regex
  .regex(/^\/[^\u0000-\u001f\u007f]*$/, 'the absolute path of a folder on the server’s machine');

/** Folders of the host that one session may be given. */
export const mostMounts = 10;

/** A folder of the host that a new session is to be given. */
export const newMount = z.object({
  folder: hostPath,
  readOnly: z.boolean().default(false).describe('Whether the agent may only read it.'),
});
export type NewMount = z.input<typeof newMount>;

/** A folder of the host, as a session has it. */
export const sessionMount = z.object({
  folder: hostPath.describe('On the host, without links.'),
  path: z.string().describe('In the sandbox.'),
  readOnly: z.boolean(),
});
export type SessionMount = z.infer<typeof sessionMount>;

/** `DIR`, `DIR:ro` or `DIR:rw`, as users write it. */
export function mountIn(text: string): { folder: string; readOnly: boolean } {
  const [, folder = text, mode] = /^(.+):(ro|rw)$/s.exec(text) ?? [];
  return { folder, readOnly: mode === 'ro' };
}

/** In a few characters: where it is in the sandbox, and whether it may be changed. */
export const mountMark = ({ path, readOnly }: SessionMount): string =>
  `${path}${readOnly ? ' (read-only)' : ''}`;

/** For users and models, such as “/mnt/data is /srv/data of the host, read-only”. */
export const mountWords = ({ folder, path, readOnly }: SessionMount): string =>
  `${path} is ${folder} of the host, ${readOnly ? 'read-only' : 'to read and change'}`;
