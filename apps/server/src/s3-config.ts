import { z } from 'zod';
import { blankIsUnset, faulty, text } from './variables.js';

/** The variables that say where files are stored: the standard ones of the SDKs of AWS, and which bucket. */
export const s3Variables = {
  BELAY_STORAGE: z.preprocess(
    blankIsUnset,
    z
      .string()
      .regex(
        /^s3:\/\/[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](\/\w[\w-]*)*\/?$/,
        'write s3://BUCKET or s3://BUCKET/PREFIX',
      )
      .optional(),
  ),
  AWS_ENDPOINT_URL_S3: text,
  AWS_ENDPOINT_URL: text,
  AWS_REGION: text,
  AWS_ACCESS_KEY_ID: text,
  AWS_SECRET_ACCESS_KEY: text,
  AWS_SESSION_TOKEN: text,
};

const variables = z.object(s3Variables);

/** A bucket of S3, or of a server with its API. What is undefined, the SDK looks up itself. */
export interface S3Config {
  readonly bucket: string;
  /** The beginning of all keys, without a slash at its end; may be empty. */
  readonly prefix: string;
  readonly endpoint: string | undefined;
  readonly region: string | undefined;
  readonly credentials:
    { accessKeyId: string; secretAccessKey: string; sessionToken?: string } | undefined;
}

export function s3Of(set: z.output<typeof variables>): S3Config | undefined {
  if (set.BELAY_STORAGE === undefined) return undefined;
  const { hostname: bucket, pathname } = new URL(set.BELAY_STORAGE);
  const endpoint = set.AWS_ENDPOINT_URL_S3 ?? set.AWS_ENDPOINT_URL;
  if (endpoint !== undefined && !/^https?:\/\/[^/]/.test(endpoint))
    throw faulty('AWS_ENDPOINT_URL_S3: write an address such as https://s3.example.com');
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = set;
  if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
    throw faulty(
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together: set both, or neither',
    );
  return {
    bucket,
    prefix: pathname.replaceAll(/^\/|\/$/g, ''),
    endpoint,
    // Servers of other vendors have no regions, but the signature has one.
    region: set.AWS_REGION ?? (endpoint === undefined ? undefined : 'us-east-1'),
    credentials:
      accessKeyId !== undefined && secretAccessKey !== undefined
        ? { accessKeyId, secretAccessKey, ...(sessionToken !== undefined && { sessionToken }) }
        : undefined,
  };
}
