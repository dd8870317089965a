//! The scenario `rollout`: a rollout fails because of a missing image, and is then fixed.

use super::build::{NODES, deployment, namespace, node, service};
use super::script::{Action, Prop, Scenario, Step};

const DAY: u64 = 24 * 3600;
const OLD: &str = "registry.example.com/shop/web:v2.3.9";
const BAD: &str = "registry.example.com/shop/web:v2.4.1-rc1";
const GOOD: &str = "registry.example.com/shop/web:v2.4.1";
const KUBECTL: &str = "kubectl-client-side-apply";

/// A Deployment behind a Service gets an image that does not exist. A quarter of a minute later somebody
/// fixes it.
pub fn rollout() -> Scenario {
    let shop = "shop";
    let mut props: Vec<Prop> = NODES
        .iter()
        .map(|(name, address)| Prop {
            age: 90 * DAY,
            manager: "kubelet",
            object: node(name, address),
        })
        .collect();
    props.extend([
        Prop {
            age: 60 * DAY,
            manager: "kubectl-create",
            object: namespace(shop),
        },
        Prop {
            age: 41 * DAY + 30,
            manager: KUBECTL,
            object: service(shop, "web"),
        },
        Prop {
            age: 41 * DAY,
            manager: KUBECTL,
            object: deployment(shop, "web", OLD),
        },
    ]);
    let set_image = |manager: &'static str, image: &'static str| Action::SetImage {
        manager,
        deployment: "web",
        image,
    };
    Scenario {
        name: "rollout",
        about: "a rollout fails because its image does not exist, and is then fixed",
        namespace: shop,
        missing_images: vec![BAD],
        props,
        steps: vec![
            Step {
                at: 2000,
                action: set_image("kubectl-set", BAD),
            },
            Step {
                at: 18000,
                action: set_image(KUBECTL, GOOD),
            },
        ],
    }
}
