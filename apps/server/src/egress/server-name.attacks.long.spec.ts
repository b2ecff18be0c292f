import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./server-name.attacks.spec.js'));
