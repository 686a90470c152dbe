//! A file system of its own on a loop device of a node, so that what the kernel counts on the device is one test's doing.

use anyhow::{Context, Result};

use super::{DeviceBytes, Node, Story};

/// Mounted on a node until the story ends.
pub struct LoopFileSystem<'a> {
    node: Node<'a>,
    /// The kernel goes on counting where an earlier file on the same device ended.
    before: DeviceBytes,
    /// The kernel's name of the device, such as `loop7`.
    pub device: String,
    /// Where it is mounted on the node.
    pub directory: String,
}

impl<'a> LoopFileSystem<'a> {
    /// Makes and mounts one of so many MiB below /tmp/cephbench of the node, which the chart lets disk tests work in.
    pub async fn mount(story: &'a Story, node: &'a str, mebibytes: u32) -> Result<Self> {
        Self::mount_with(story, node, mebibytes, "").await
    }

    /// One without extents: space can't be set aside there, so a file takes it bit by bit as it is written.
    pub async fn mount_without_extents(story: &'a Story, node: &'a str, mebibytes: u32) -> Result<Self> {
        Self::mount_with(story, node, mebibytes, ",^extent,^64bit").await
    }

    async fn mount_with(story: &'a Story, node: &'a str, mebibytes: u32, features: &str) -> Result<Self> {
        let node = Node::new(&story.cluster, node);
        let directory = format!("/tmp/cephbench/{}", story.name_of(""));
        let image = format!("/var/tmp/{}.img", story.name_of(""));
        let remove = format!(
            "for mounted in $(losetup --noheadings --output NAME --associated {image}); do umount $mounted; losetup --detach $mounted; done
             rm -rf {image}; rmdir {directory}; rmdir --ignore-fail-on-non-empty /tmp/cephbench"
        );
        story.remove_by(&["e2e/cluster/on-node.sh", node.name, "sh", "-c", &remove]);
        // Without a journal and with everything written at once, the file system leaves the device alone afterwards.
        let make = format!(
            "set -e; mkdir -p {directory}; truncate --size {mebibytes}M {image}
             device=$(losetup --find --show --direct-io=on {image})
             mkfs.ext4 -q -m 0 -O ^has_journal{features} -E lazy_itable_init=0,nodiscard $device >&2
             mount -o noatime $device {directory}; basename $device"
        );
        let device = node.run(&["sh", "-c", &make]).await.context("a file system on a loop device")?.trim().to_owned();
        let before = DeviceBytes::of(&node, &device).await?;
        Ok(Self { node, before, device, directory })
    }

    /// What the kernel has counted on the device since it was mounted; what is only in memory yet is written first.
    pub async fn counted(&self) -> Result<DeviceBytes> {
        self.node.run(&["sync", "--file-system", &self.directory]).await?;
        Ok(DeviceBytes::of(&self.node, &self.device).await?.since(self.before))
    }

    /// Everything in it, but for what mkfs made.
    pub async fn files(&self) -> Result<Vec<String>> {
        let all = self.node.run(&["find", &self.directory, "-mindepth", "1", "-not", "-name", "lost+found"]).await?;
        Ok(all.lines().map(str::to_owned).collect())
    }

    /// As soon as so many MiB are in use, takes all the space that is left.
    pub async fn fill_when_in_use(&self, mebibytes: u32) -> Result<()> {
        let fill = format!(
            "until [ $(df --output=used --block-size=1M {0} | tail -n 1) -ge {mebibytes} ]; do :; done
             cat /dev/zero >{0}/in-the-way 2>/dev/null; test -s {0}/in-the-way",
            self.directory
        );
        self.node.run(&["timeout", "60", "sh", "-c", &fill]).await.map(drop)
    }
}
