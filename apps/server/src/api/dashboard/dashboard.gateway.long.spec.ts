import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./dashboard.gateway.spec.js'));
