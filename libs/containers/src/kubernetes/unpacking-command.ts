import type { Layers } from './pod-images.js';

/** Where the runtime is in each pod. */
export const folderOfRuntime = '/opt/belay';

/** What the agent’s programs know as `Unpacking`. */
export const unpackingOf = ({ places, mb }: Pick<Layers, 'places' | 'mb'>) => ({
  layers: places.map((place) => `${folderOfRuntime}/layers/${place}`),
  maxMb: mb,
});

/**
 * Runs a command once layers are unpacked over the image, as a user, `user:group` by their ids, or as root where that is
 * null. See apps/agent/src/layers/main.ts.
 */
export const unpackingCommand = (
  { places, mb }: Pick<Layers, 'places' | 'mb'>,
  command: readonly string[],
  user: string | null,
): string[] => [
  `${folderOfRuntime}/init`,
  '--',
  `${folderOfRuntime}/node`,
  `${folderOfRuntime}/layers.cjs`,
  JSON.stringify({
    ...unpackingOf({ places, mb }),
    user: user === null ? null : Number.parseInt(user, 10),
    command,
  }),
];
