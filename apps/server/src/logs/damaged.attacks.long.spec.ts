import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./damaged.attacks.spec.js'));
