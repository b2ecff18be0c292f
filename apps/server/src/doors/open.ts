import { SetMetadata } from '@nestjs/common';

export const openKey = 'belay:open';

/** Marks a route that answers without a token. Every other one is closed. */
export const Open = (): MethodDecorator & ClassDecorator => SetMetadata(openKey, true);
