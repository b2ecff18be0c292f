import { SetMetadata } from '@nestjs/common';
import type { Route } from '@belay/protocol';

export const routeKey = 'belay:route';

/** Sets the route that a handler serves; a handler without a route needs the scope `admin`. */
export const Serves = (route: Route): MethodDecorator => SetMetadata(routeKey, route);
