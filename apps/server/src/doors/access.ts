import { SetMetadata } from '@nestjs/common';

export const openKey = 'belay:open';
export const viewersKey = 'belay:viewers';

/** Marks a route that answers without a token. Every other one is closed. */
export const Open = (): MethodDecorator => SetMetadata(openKey, true);

/** Marks a route that viewers may call though it is no GET: what it calls decides on them. */
export const ViewersToo = (): MethodDecorator => SetMetadata(viewersKey, true);
