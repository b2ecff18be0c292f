import type { Request } from 'express';

/** The address that the caller uses for this server; its Host has been checked. */
export const baseUrlOf = (request: Pick<Request, 'protocol' | 'headers'>): string =>
  `${request.protocol}://${request.headers.host ?? ''}`;
