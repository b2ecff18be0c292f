import { z } from 'zod';

const environment = z.object({
  /** `unix:` with the path of the connection’s socket, or a `wss:` URL. */
  BELAY_CONNECTION: z.string(),
  BELAY_TOKEN: z.string().optional(),
  /** The user that programs run as, where the starter begins as root; omitted where programs are root without rights. */
  BELAY_USER: z.coerce.number().int().nonnegative().optional(),
});

export interface StarterEnvironment {
  connection: string;
  token: string | undefined;
  user: number | undefined;
  /** Variables of the image, which programs get. */
  image: Record<string, string>;
}

export function readStarterEnvironment(
  values: NodeJS.ProcessEnv = process.env,
): StarterEnvironment {
  const own = environment.parse(values);
  const image = Object.entries(values).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !entry[0].startsWith('BELAY_') && entry[0] !== 'NODE_COMPILE_CACHE',
  );
  return {
    connection: own.BELAY_CONNECTION,
    token: own.BELAY_TOKEN,
    user: own.BELAY_USER,
    image: Object.fromEntries(image),
  };
}
