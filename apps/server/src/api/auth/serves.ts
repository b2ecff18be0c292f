import { SetMetadata } from '@nestjs/common';
import type { Route } from '@belay/protocol';

export const routeKey = 'belay:route';

/** Sets the route that a handler serves; one without is for the scope `admin` alone. */
export const Serves = (route: Route): MethodDecorator => SetMetadata(routeKey, route);
