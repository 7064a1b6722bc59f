//! Pictures: text as a snapshot, and the others read back by their own readers.

use std::sync::Arc;

use form_env::{
    Frame, GridWorld, Maps, Split, Stream, Task, Walk, WorldOptions, generator, solution,
};

fn world() -> GridWorld {
    let task = Arc::new(Task::builtin("green-but-one").unwrap());
    let maps = task.maps(7, Split::Training, 1).unwrap();
    let map = maps[0].clone();
    let mut world = GridWorld::new(task, Maps::Set(maps), WorldOptions::default()).unwrap();
    let start = &mut generator(7, Stream::Other(0));
    world.reset_on(map, start).unwrap();
    world
}

#[test]
fn text() {
    let world = world();
    let frame = Frame::of_world(&world);
    insta::assert_snapshot!(frame.to_text(false));
    let coloured = frame.to_text(true);
    let mut plain = String::new();
    for (i, part) in coloured.split("\x1b[").enumerate() {
        plain += if i == 0 {
            part
        } else {
            part.split_once('m').unwrap().1
        };
    }
    assert_eq!(plain, frame.to_text(false));
}

#[test]
fn svg() {
    insta::assert_snapshot!(Frame::of_world(&world()).to_svg());
}

/// Width, height and pixels of a PNG file.
fn decode_png(file: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width as usize, info.height as usize, pixels)
}

#[test]
fn png() {
    let world = world();
    let (width, height, pixels) = decode_png(&Frame::of_world(&world).to_png(20).unwrap());
    assert_eq!(Frame::of_world(&world).to_rgb(20).unwrap(), pixels);
    assert_eq!((width, height), (260, 260));
    // A little off the middle of a cell: beside the number on a ball, and inside the agent.
    let pixel = |x: usize, y: usize| {
        let at = ((y * 20 + 14) * width + x * 20 + 10) * 3;
        [pixels[at], pixels[at + 1], pixels[at + 2]]
    };
    assert_eq!(pixel(0, 0), [128, 128, 128]);
    assert_eq!(pixel(11, 11), [0, 220, 0]);
    let agent = world.agent();
    assert_eq!(pixel(agent.x, agent.y)[1..], [0, 0]);
    let text = Frame::of_world(&world).to_text(false);
    for (y, line) in text.lines().enumerate() {
        for (x, symbol) in line.as_bytes().chunks(3).enumerate() {
            match symbol {
                b" . " => assert_eq!(pixel(x, y), [0, 0, 0], "({x}, {y})"),
                b"~~~" => assert_eq!(pixel(x, y), [255, 128, 0], "({x}, {y})"),
                b"###" => assert_eq!(pixel(x, y), [128, 128, 128], "({x}, {y})"),
                [b'y', ..] => assert!(pixel(x, y)[2] < 64, "({x}, {y})"),
                _ => {}
            }
        }
    }
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    let world = world();
    for scale in [0, 3, 257] {
        let error = Frame::of_world(&world)
            .to_png(scale)
            .unwrap_err()
            .to_string();
        assert!(error.contains("from 4 to 256"), "{error}");
        assert!(Walk::new(&world, [2]).unwrap().to_gif(scale).is_err());
    }
}

/// The frames of a GIF, put one over the other, end in the picture of the world at the end of the walk.
#[test]
fn gif() {
    use form_env::Environment;
    let mut world = world();
    let actions: Vec<usize> = (solution(&world, 1_000_000).unwrap().iter())
        .map(|action| *action as usize)
        .collect();
    let walk = Walk::new(&world, actions.iter().copied().chain([0, 0])).unwrap();
    assert_eq!(
        walk.steps(),
        actions.len(),
        "the walk ends with the episode"
    );
    let file = walk.to_gif(16).unwrap();
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(file.as_slice()).unwrap();
    let width = usize::from(decoder.width());
    let mut screen = vec![0_u8; width * usize::from(decoder.height()) * 3];
    let mut frames = 0;
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        frames += 1;
        let (left, top, wide) = (
            usize::from(frame.left),
            usize::from(frame.top),
            usize::from(frame.width),
        );
        for (i, pixel) in frame.buffer.chunks_exact(4).enumerate() {
            let at = ((top + i / wide) * width + left + i % wide) * 3;
            screen[at..at + 3].copy_from_slice(&pixel[..3]);
        }
    }
    assert_eq!(frames, actions.len() + 1);
    for action in actions {
        world.step(action).unwrap();
    }
    let (_, _, expected) = decode_png(&Frame::of_world(&world).to_png(16).unwrap());
    assert_eq!(expected.len(), screen.len());
    let furthest = expected
        .iter()
        .zip(&screen)
        .map(|(a, b)| a.abs_diff(*b))
        .max()
        .unwrap();
    // The first frame may have more than 256 colours, which are then approximated.
    assert!(furthest <= 24, "{furthest}");
}

#[test]
fn animated_svg() {
    let world = world();
    let svg = Walk::new(&world, [0, 2, 2, 1]).unwrap().to_svg();
    assert_eq!(svg.matches("<animateTransform").count(), 2);
    assert_eq!(svg.matches("<g ").count(), svg.matches("</g>").count());
    let values = |kind: &str| {
        let (_, rest) = svg.split_once(&format!("type=\"{kind}\"")).unwrap();
        let (_, rest) = rest.split_once("values=\"").unwrap();
        rest.split_once('"').unwrap().0.split(';').count()
    };
    assert_eq!((values("translate"), values("rotate")), (5, 5));
}
