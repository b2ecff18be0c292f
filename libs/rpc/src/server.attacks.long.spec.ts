import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./server.attacks.spec.js'));
