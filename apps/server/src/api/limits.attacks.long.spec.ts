import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./limits.attacks.spec.js'));
