import type { Request } from 'express';

/** The address by which the caller knows this server; its Host was checked before. */
export const baseUrlOf = (request: Pick<Request, 'protocol' | 'headers'>): string =>
  `${request.protocol}://${request.headers.host ?? ''}`;
