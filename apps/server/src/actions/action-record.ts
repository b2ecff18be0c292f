import { actionKind, actionManifest, actionName, actionSource } from '@belay/protocol';
import { z } from 'zod';

const version = z.object({
  /** The id of its image; null for what runs nothing of its own. */
  image: z.string().nullable(),
  /** The hash of its files, by which they are kept. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  manifest: actionManifest,
  readme: z.string().nullable(),
  source: actionSource,
  installed: z.iso.datetime(),
});
export type ActionVersion = z.infer<typeof version>;

/** An action as it is stored. Earlier versions are those that sessions may still hold. */
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
