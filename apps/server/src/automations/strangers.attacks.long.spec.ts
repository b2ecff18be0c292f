import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./strangers.attacks.spec.js'));
