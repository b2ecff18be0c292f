import { actionKind, actionManifest, actionName, actionSource } from '@belay/protocol';
import { z } from 'zod';

const version = z.object({
  /** The id of the action’s image; null for an action that runs no program. */
  image: z.string().nullable(),
  /** The hash of the action’s files, under which they are stored. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  manifest: actionManifest,
  readme: z.string().nullable(),
  source: actionSource,
  installed: z.iso.datetime(),
});
export type ActionVersion = z.infer<typeof version>;

/** An action as it is stored. Previous versions are kept for sessions that may still use them. */
export const actionRecord = z.object({
  name: actionName,
  kind: actionKind,
  enabled: z.boolean(),
  current: version,
  earlier: z.array(version),
});
export type ActionRecord = z.infer<typeof actionRecord>;

export const versionsOf = ({ current, earlier }: ActionRecord): ActionVersion[] => [
  current,
  ...earlier,
];
