import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./web-socket-api.spec.js'));
